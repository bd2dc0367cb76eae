package budget

// What becomes of a bucket that is forgotten while someone has it in hand,
// which can't be met from outside but by chance.

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestForgottenBucket(t *testing.T) {
	h := &hosts{initial: 2 * token, limit: 1}
	k := h.get("a")
	assert.Equal(t, done, k.spend())
	h.forget()
	assert.Nil(t, h.find("a"))
	assert.Equal(t, stale, k.spend())
	assert.Equal(t, stale, k.earn(token, 2*token))
	assert.NotSame(t, k, h.get("a"))
}
