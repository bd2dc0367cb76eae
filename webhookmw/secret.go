package webhookmw

// Secrets: which ones are refused before they can protect nothing, and how a scheme's text becomes a key.

import (
	"encoding/base64"
	"errors"
	"strings"
	"unicode"
)

// minSecret is the shortest secret, in bytes of the key that it stands for.
const minSecret = 16

var (
	errSecretEmpty   = errors.New("secret is empty or blank")
	errSecretShort   = errors.New("secret is shorter than 16 bytes")
	errSecretSpace   = errors.New("secret begins or ends with white space")
	errSecretControl = errors.New("secret holds a control character")
	errSecretBase64  = errors.New("secret is not base64, with or without whsec_ before it")
)

// rawKey is a secret whose text is the key: all of it, a prefix such as whsec_ included.
func rawKey(secret string) ([]byte, error) {
	if err := checkSecret(secret); err != nil {
		return nil, err
	}
	if len(secret) < minSecret {
		return nil, errSecretShort
	}
	return []byte(secret), nil
}

// base64Key is a secret that is the base64 of the key, as Standard Webhooks hands it out, with whsec_ before it or not.
func base64Key(secret string) ([]byte, error) {
	if err := checkSecret(secret); err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil, errSecretBase64 // The decoder's own error would quote from the secret.
	}
	if len(key) < minSecret {
		return nil, errSecretShort
	}
	return key, nil
}

// checkSecret refuses the text that no secret has: what a variable that is not set leaves, and what a file's last line
// or a copied cell brings with it.
func checkSecret(secret string) error {
	switch {
	case strings.TrimSpace(secret) == "":
		return errSecretEmpty
	case strings.TrimSpace(secret) != secret:
		return errSecretSpace
	case strings.ContainsFunc(secret, unicode.IsControl):
		return errSecretControl
	}
	return nil
}
