package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	one := &table{title: "Of two", text: "\nWhat it is.\n"}
	one.row("who", "%", "")
	one.row("first, né à", "3", "x")
	var b strings.Builder
	require.NoError(t, one.write(&b))
	assert.Equal(t, `## Of two

What it is.

| who         | %   |     |
|-------------|-----|-----|
| first, né à | 3   | x   |

`, b.String())
}

func TestFigures(t *testing.T) {
	got := over([]string{"ab", "a", "abcdef"}, func(s string) float64 { return float64(len(s)) })
	assert.Equal(t, figures{3, 1, 6}, got)
	assert.Equal(t, "3.0 [1.0, 6.0]", got.show(1))
	assert.Equal(t, "7", figures{7.1, 6.9, 7.3}.show(0))
	assert.Equal(t, []string{"0", "270", "1,000", "33,500"}, []string{thousands(0), thousands(270), thousands(1000), thousands(33500)})
}
