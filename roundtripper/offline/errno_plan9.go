package offline

// Plan 9 has no error numbers, so all that can be told there is what package
// net tells.

var answered, pathless, timedOut []error
