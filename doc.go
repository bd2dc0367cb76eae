// Package rebound is the root of a set of packages that bound what happens when
// an HTTP request, or a webhook delivery, fails. It holds no code itself.
//
//   - [github.com/rebound-go/rebound/roundtripper] is an http.RoundTripper for
//     any http.Client: timeouts, retries that are safe, and when to stop.
//   - [github.com/rebound-go/rebound/roundtripper/breaker],
//     [github.com/rebound-go/rebound/roundtripper/budget] and
//     [github.com/rebound-go/rebound/roundtripper/offline] make many calls
//     together behave; they know no HTTP.
//   - [github.com/rebound-go/rebound/webhookmw] wraps any http.Handler and lets
//     through only deliveries that are signed, fresh, whole, well-formed and
//     new; [github.com/rebound-go/rebound/webhookmw/rehearse] is a sender that
//     rehearses an endpoint.
//   - [github.com/rebound-go/rebound/roundtripper/statuspage] shows operators
//     what calls and deliveries come to.
//   - [github.com/rebound-go/rebound/retryafter] reads and writes the
//     Retry-After header.
//   - [github.com/rebound-go/rebound/backoff] says how long to wait.
package rebound
