module github.com/rebound-go/rebound/webhookmw/bench

go 1.26.0

replace github.com/rebound-go/rebound => ../..

require (
	github.com/google/go-github/v89 v89.0.0
	github.com/hashicorp/golang-lru/v2 v2.0.7
	github.com/maypok86/otter/v2 v2.4.0
	github.com/patrickmn/go-cache v2.1.0+incompatible
	github.com/rebound-go/rebound v0.0.0-00010101000000-000000000000
	github.com/slack-go/slack v0.36.0
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
	github.com/stretchr/testify v1.12.1
	github.com/stripe/stripe-go/v85 v85.0.0
	github.com/svix/svix-webhooks v1.44.0
)

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/gorilla/websocket v1.5.3 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	gopkg.in/validator.v2 v2.0.1 // indirect
)
