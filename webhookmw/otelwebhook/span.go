package otelwebhook

// What is told on the span of the server.

import (
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/rebound-go/rebound/webhookmw"
)

const (
	keyReason          attribute.Key = "rebound.webhook.reason"
	keyEventID         attribute.Key = "rebound.webhook.event.id"
	keyEventType       attribute.Key = "rebound.webhook.event.type"
	keyDeliveryID      attribute.Key = "rebound.webhook.delivery.id"
	keyDuplicate       attribute.Key = "rebound.webhook.duplicate"
	keyEventSeen       attribute.Key = "rebound.webhook.event.seen"
	keySignatureReused attribute.Key = "rebound.webhook.signature.reused"
	keyDuplicateOf     attribute.Key = "rebound.webhook.duplicate.of"
)

func annotate(e webhookmw.Event) {
	span := trace.SpanFromContext(e.Request.Context())
	if !span.IsRecording() {
		return
	}
	as := make([]attribute.KeyValue, 0, 8)
	as = append(as, keyReason.String(string(e.Reason)))
	if d := e.Delivery; d != nil {
		as = appendText(as, keyEventID, d.EventID)
		as = appendText(as, keyEventType, d.Type)
		as = appendText(as, keyDeliveryID, d.DeliveryID)
		as = appendTrue(as, keyDuplicate, d.Duplicate)
		as = appendTrue(as, keyEventSeen, d.EventSeen)
		as = appendTrue(as, keySignatureReused, d.SignatureReused)
	}
	if e.Reason == webhookmw.ReasonPanicked || e.Reason == webhookmw.ReasonNotRecorded {
		as = append(as, semconv.ErrorTypeKey.String(string(e.Reason)))
		span.SetStatus(codes.Error, "")
	}
	span.SetAttributes(as...)
}

// longest is how many bytes are told of a text that the sender has chosen.
const longest = 255

func appendText(as []attribute.KeyValue, key attribute.Key, text string) []attribute.KeyValue {
	if text == "" {
		return as
	}
	if len(text) > longest {
		text = text[:longest]
	}
	return append(as, key.String(strings.ToValidUTF8(text, ""))) // without a character that the cut went through
}

func appendTrue(as []attribute.KeyValue, key attribute.Key, is bool) []attribute.KeyValue {
	if !is {
		return as
	}
	return append(as, key.Bool(true))
}
