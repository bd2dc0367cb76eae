package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Layers multiply, unless all but one of them keep still or each has a budget.
func TestLayers(t *testing.T) {
	for _, tc := range []struct {
		layers
		clicks, want int
	}{
		{layers{depth: 1, attempts: 3}, 1, 3},
		{layers{depth: 3, attempts: 1}, 1, 1},
		{layers{depth: 3, attempts: 2}, 1, 8},
		{layers{depth: 3, attempts: 3}, 1, 27},
		{layers{depth: 3, attempts: 4}, 1, 64},
		{layers{depth: 3, attempts: 3, budgets: true}, 1, 19},
		{layers{depth: 3, attempts: 3, budgets: true}, 1000, 1030},
		{layers{depth: 3, attempts: 3, together: true}, 1, 3},
		{layers{depth: 3, attempts: 3, together: true, budgets: true}, 1000, 1010},
	} {
		t.Run(fmt.Sprintf("%+v", tc), func(t *testing.T) {
			got, err := tc.layers.clicks(tc.clicks)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}
