package redisstore

// The scripts. Redis runs each of them as one step, on its own clock.
//
// What stands under a delivery's key is its fingerprint, 32 bytes; while it is in work there follow the microsecond at
// which the lease ends, 16 digits, and the owner's token. So 32 bytes exactly are a delivery that is done. An event's key
// holds nothing; a signature's holds the beginning of the delivery that it first came with. They use no command or option
// that is younger than Redis 5, so that what speaks its protocol can stand in for it.

import "github.com/redis/go-redis/v9"

// originSize is how much of a delivery's hash a signature keeps: enough that nobody finds two that begin alike.
const originSize = 16

// The reply to claimScript is a webhookmw.State and two bits.
const (
	replyState           = 3
	replyEventSeen       = 4
	replySignatureReused = 8
)

// claimScript writes the delivery before the signature. The first write is the one that Redis refuses for want of memory,
// and then nothing has been written. Where the signature is the only one, for a delivery that is in work or done, it goes
// unrecorded instead: nobody is refused for want of room for a signature.
//
// Numbers are doubles there, exact up to 2^53: that is the last microsecond at which a lease can end, in the year 2255.
var claimScript = redis.NewScript(`
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local fingerprint, token, origin = ARGV[1], ARGV[2], ARGV[3]
local lease, expiry, retain = math.min(now + ARGV[4], 2^53), ARGV[5], tonumber(ARGV[6])

local held = redis.call('GET', KEYS[1])
local reply = 0
if held and not (#held > 32 and (tonumber(held:sub(33, 48)) <= now or held:sub(49) == token)) then
	reply = 1
	if held:sub(1, 32) ~= fingerprint then
		reply = 3
	elseif #held == 32 then
		reply = 2
	end
end
if redis.call('EXISTS', KEYS[2]) == 1 then
	reply = reply + 4
end
local first = redis.call('GET', KEYS[3])
if first and first ~= origin then
	reply = reply + 8
end

if reply % 4 == 0 then
	redis.call('SET', KEYS[1], fingerprint .. string.format('%016.0f', lease) .. token, 'PX', expiry)
end
if not first then
	local recorded = redis.pcall('SET', KEYS[3], origin, 'PX', retain)
	if recorded.err and not recorded.err:find('OOM', 1, true) then
		return recorded
	end
elseif redis.call('PTTL', KEYS[3]) < retain then
	redis.call('PEXPIRE', KEYS[3], retain)
end
return reply
`)

// completeScript deletes before it writes: Redis asks for memory only at a script's first write, and DEL needs none. So
// whatever was claimed can be completed, also where there is no room for anything else.
var completeScript = redis.NewScript(`
local retain = tonumber(ARGV[2])
local held = redis.call('GET', KEYS[1])
if not held or #held == 32 or held:sub(49) ~= ARGV[1] then
	return 0
end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], held:sub(1, 32), 'PX', retain)
if redis.call('PTTL', KEYS[2]) < retain then
	redis.call('SET', KEYS[2], '', 'PX', retain)
end
return 1
`)

var releaseScript = redis.NewScript(`
local held = redis.call('GET', KEYS[1])
if not held or #held == 32 or held:sub(49) ~= ARGV[1] then
	return 0
end
redis.call('DEL', KEYS[1])
return 1
`)
