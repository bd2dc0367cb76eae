package webhookmw

// What a store is told of a delivery.

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"strconv"
)

// claim fills in the claim for a delivery.
func (v *Verifier) claim(c *Claim, d *Delivery) {
	var buf [512]byte
	scope := appendText(buf[:0], v.config.Scope)
	c.Event = sha256.Sum256(appendText(append(scope, 'e'), d.EventID))
	c.Key = sha256.Sum256(appendText(appendText(append(scope, 'd'), d.DeliveryID), d.EventID))

	v.fingerprint(c.Fingerprint[:16], d.Body)

	// What was signed is the timestamp and the body. It is the same whichever of the secrets signed it.
	copy(c.Signature[:16], c.Fingerprint[:16])
	binary.BigEndian.PutUint64(c.Signature[16:], uint64(d.Timestamp.Unix()))
	copy(c.Signature[24:], v.scope[:])

	token := append(append(buf[:0], v.process...), '-')
	c.Token = string(strconv.AppendUint(token, v.claims.Add(1), 36))
	c.Lease, c.Retain = v.config.Lease, v.config.Retention
}

// fingerprint tells bodies apart. Two that have the same checksums can be made at will, but both have to be signed, for one
// delivery or in one second: it would be the sender fooling itself. So checksums do, where a second SHA-256 would double
// the price of a delivery. Where no time is signed a signature is known again over a day and more, in which others may have
// a say in what is signed: there it is SHA-256, cut to 128 bits.
func (v *Verifier) fingerprint(dst []byte, body []byte) {
	if v.rules.untimed {
		sum := sha256.Sum256(body)
		copy(dst, sum[:])
		return
	}
	binary.BigEndian.PutUint64(dst[0:], uint64(len(body)))
	binary.BigEndian.PutUint32(dst[8:], crc32.Checksum(body, castagnoli))
	binary.BigEndian.PutUint32(dst[12:], crc32.ChecksumIEEE(body))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendText appends text so that what follows can't be taken for a part of it.
func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}
