// Package otelwebhook tells OpenTelemetry what becomes of the deliveries of package webhookmw.
//
//	v, err := webhookmw.New(webhookmw.Config{
//		Secrets: secrets,
//		Observe: otelwebhook.Observe(otelwebhook.Config{}),
//	})
//	http.Handle("POST /hooks/orders", otelhttp.NewHandler(v.Handler(orders), "orders"))
//
// It is a module of its own, so that nobody who does without telemetry downloads any.
//
// # On the server's span
//
// It makes no span. It adds to the one that is in the request's context, which otelhttp.NewHandler, or whatever else
// stands outside, has made:
//
//	rebound.webhook.reason             the webhookmw.Reason, of each request
//	rebound.webhook.event.id           of a delivery whose signature is good
//	rebound.webhook.event.type
//	rebound.webhook.delivery.id
//	rebound.webhook.duplicate          true: this delivery was taken before
//	rebound.webhook.event.seen         true: its event was, in this delivery or in another
//	rebound.webhook.signature.reused   true: the same signed bytes came before under another delivery ID
//	error.type                         the reason, where the handler panicked or what it did was not recorded
//
// In these last two cases the span's status is Error: the work will be done again, whatever status was answered.
// Anything else that is wrong shows in the response status, which is for the server's instrumentation to judge.
//
// Texts are cut off at 255 bytes. No secret, signature or body is told, nor the text of an error; for that there is a log.
//
// # Metrics
//
//	rebound.webhook.deliveries         counter, {delivery}: every request
//	rebound.webhook.delivery.duration  histogram, s: every request, from its headers' arrival to the handler's end
//	rebound.webhook.body.size          histogram, By: deliveries whose signature is good
//	rebound.webhook.duplicates         counter, {delivery}: of those, the ones that were taken before
//	rebound.webhook.signature_reuses   counter, {delivery}: of those, the ones whose signed bytes came before
//
// The first three have rebound.webhook.reason, the first two http.response.status_code as well, where there was one, and
// duplicates have rebound.webhook.duplicate.of: "delivery", or "event" for a new delivery of an event that was taken
// before. All have [Config.Attributes], and rebound.webhook.event.type if [Config.EventTypes] asks for it.
// IDs are never attributes of metrics: each would be a time series of its own.
package otelwebhook
