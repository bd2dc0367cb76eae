// Package examples holds webhookmw behind routers other than the standard library's. It is a module of its own, so that
// nobody who uses webhookmw downloads any of them.
package examples
