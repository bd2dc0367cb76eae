// Package examples holds roundtripper among others: an SDK over it, a transport around it, a transport below it. It is a
// module of its own, so that nobody who uses roundtripper downloads any of them.
package examples
