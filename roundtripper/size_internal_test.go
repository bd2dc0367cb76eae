package roundtripper

import (
	"strconv"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A call is one allocation, and its bytes are most of what a call costs. Beyond
// 512 an object gets a header of its own, and the next class is 576.
func TestCallSize(t *testing.T) {
	if strconv.IntSize == 64 {
		require.LessOrEqual(t, unsafe.Sizeof(call{}), uintptr(512))
	}
}
