;; Shared by all guests in this folder (put before their text inside one module): memory, a bump allocator, and the result
;; area. A function that returns `result<response, failure>` returns the address of 44 bytes:
;;   0 tag (0 ok, 1 err)
;;   ok:  4 body, 12 cursor (option), 24 more, 28 extra
;;   err: 4 code, 12 message, 20 retry-after-ms (option), 28 http-status (option), 32 detail (option)
;; Its 13 parameters: op, body, cursor (option), idempotency-key (option), deadline-ms, extra; strings as address and length.
(memory (export "memory") 1)
(global $top (mut i32) (i32.const 4096))
(func $alloc (export "cabi_realloc") (param $old i32) (param $old_len i32) (param $align i32) (param $len i32) (result i32)
  (local $at i32)
  (local.set $at (i32.and (i32.add (global.get $top) (i32.const 7)) (i32.const -8)))
  (global.set $top (i32.add (local.get $at) (local.get $len)))
  (block $fits
    (loop $more
      (br_if $fits (i32.le_u (global.get $top) (i32.mul (memory.size) (i32.const 65536))))
      (if (i32.eq (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))
      (br $more)))
  (local.get $at))
(data (i32.const 1024) "{}")
;; An answer with this body.
(func $ok (param $body i32) (param $len i32) (result i32)
  (local $r i32)
  (local.set $r (call $alloc (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 44)))
  (memory.fill (local.get $r) (i32.const 0) (i32.const 44))
  (i32.store offset=4 (local.get $r) (local.get $body))
  (i32.store offset=8 (local.get $r) (local.get $len))
  (local.get $r))
;; A failure with this code and message.
(func $err (param $code i32) (param $code_len i32) (param $message i32) (param $message_len i32) (result i32)
  (local $r i32)
  (local.set $r (call $ok (local.get $code) (local.get $code_len)))
  (i32.store8 (local.get $r) (i32.const 1))
  (i32.store offset=12 (local.get $r) (local.get $message))
  (i32.store offset=16 (local.get $r) (local.get $message_len))
  (local.get $r))
(type $call (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
;; Every guest is a calendar connector whose three functions are its `$fetch`.
(export "switchboard:connector/calendar@1.0.0#fetch" (func $fetch))
(export "switchboard:connector/calendar@1.0.0#mutate" (func $fetch))
(export "switchboard:connector/calendar@1.0.0#changes" (func $fetch))
