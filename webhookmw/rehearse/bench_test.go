package rehearse_test

// What a delivery costs beyond the network.

import (
	"context"
	"net/http"
	"testing"

	"github.com/rebound-go/rebound/webhookmw/rehearse"
)

var answered = roundTrip(func(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
})

func benchSender(b *testing.B) *rehearse.Sender {
	s, err := rehearse.New(rehearse.Config{URL: target, Secret: secret, Transport: answered})
	if err != nil {
		b.Fatal(err)
	}
	if _, err = s.Send(context.Background(), event); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkDeliver(b *testing.B) {
	b.Run("how=send", func(b *testing.B) {
		s := benchSender(b)
		b.ReportAllocs()
		for b.Loop() {
			s.Send(b.Context(), event)
		}
	})
	b.Run("how=replay/key=none", func(b *testing.B) {
		s := benchSender(b)
		b.ReportAllocs()
		for b.Loop() {
			s.Replay(b.Context(), "evt_1", "")
		}
	})
	b.Run("how=replay/key=known", func(b *testing.B) {
		s := benchSender(b)
		b.ReportAllocs()
		for b.Loop() {
			s.Replay(b.Context(), "evt_1", "k")
		}
	})
}
