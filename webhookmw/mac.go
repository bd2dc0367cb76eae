package webhookmw

// HMAC-SHA256 (RFC 2104), keyed once and used again and again.

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"hash"
)

// keyedMAC is an HMAC under one key. After its first use it keeps the state in which the key has been taken in, so that
// later ones cost as much as the message alone. It serves one goroutine at a time.
type keyedMAC struct {
	hash hash.Hash
	out  [sha256.Size]byte // here, so that Sum need not allocate
}

func newMAC(key []byte) *keyedMAC {
	return &keyedMAC{hash: hmac.New(sha256.New, key)}
}

// sum returns the MAC of prefix and body, one after the other.
func (m *keyedMAC) sum(prefix, body []byte) [sha256.Size]byte {
	m.hash.Reset()
	m.hash.Write(prefix)
	m.hash.Write(body)
	m.hash.Sum(m.out[:0])
	return m.out
}

// workspace is what verifying one delivery needs beside the delivery itself. Workspaces are pooled.
type workspace struct {
	envelope envelope
	macs     []*keyedMAC // one for each secret
	buf      []byte
	more     [1]byte
}

func newWorkspace(keys [][]byte) *workspace {
	ws := new(workspace)
	for _, key := range keys {
		ws.macs = append(ws.macs, newMAC(key))
	}
	return ws
}

// verified reports whether one of the signatures of that version is the MAC of prefix and body under one of the keys.
// All of them are compared with all of them, whatever comes out, so that the time taken does not tell which one it was.
func (ws *workspace) verified(version int, prefix, body []byte) bool {
	equal := 0
	for _, m := range ws.macs {
		want := m.sum(prefix, body)
		for i := range ws.envelope.n {
			if got := &ws.envelope.macs[i]; got.version == version {
				equal |= subtle.ConstantTimeCompare(got.sum[:], want[:])
			}
		}
	}
	return equal == 1
}
