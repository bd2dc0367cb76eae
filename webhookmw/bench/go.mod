module github.com/rebound-go/rebound/webhookmw/bench

go 1.26.0

replace github.com/rebound-go/rebound => ../..

require (
	github.com/rebound-go/rebound v0.0.0-00010101000000-000000000000
	github.com/slack-go/slack v0.36.0
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
	github.com/stretchr/testify v1.12.1
	github.com/stripe/stripe-go/v85 v85.0.0
	github.com/svix/svix-webhooks v1.44.0
)

require (
	github.com/gorilla/websocket v1.5.3 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	gopkg.in/validator.v2 v2.0.1 // indirect
)
