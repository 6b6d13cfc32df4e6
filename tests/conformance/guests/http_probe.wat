;; Sends what the call says: method = op, URL = body, one header = cursor and idempotency key where given. Follows one redirect by
;; itself, as a connector must. Answers the response body, or fails with the host's code and message.
(import "switchboard:connector/http@1.0.0" "send" (func $send (param i32 i32)))
;;prelude
(func $fetch (type $call)
  (param $op i32) (param $op_len i32) (param $url i32) (param $url_len i32)
  (param $has_name i32) (param $name i32) (param $name_len i32)
  (param $has_value i32) (param $value i32) (param $value_len i32)
  (param $deadline i32) (param $extra i32) (param $extra_len i32) (result i32)
  (local $r i32) (local $h i32) (local $n i32) (local $hops i32)
  (i32.store (i32.const 1200) (local.get $op))
  (i32.store (i32.const 1204) (local.get $op_len))
  (i32.store (i32.const 1208) (local.get $url))
  (i32.store (i32.const 1212) (local.get $url_len))
  (if (i32.and (local.get $has_name) (local.get $has_value)) (then
    (i32.store (i32.const 1216) (i32.const 1280))
    (i32.store (i32.const 1220) (i32.const 1))
    (i32.store (i32.const 1280) (local.get $name))
    (i32.store (i32.const 1284) (local.get $name_len))
    (i32.store (i32.const 1288) (local.get $value))
    (i32.store (i32.const 1292) (local.get $value_len))))
  (local.set $r (i32.const 1300))
  (block $done
    (loop $hop
      (call $send (i32.const 1200) (local.get $r))
      (br_if $done (i32.load8_u (local.get $r)))
      (br_if $done (i32.ne (i32.div_u (i32.load16_u offset=4 (local.get $r)) (i32.const 100)) (i32.const 3)))
      (local.set $hops (i32.add (local.get $hops) (i32.const 1)))
      (br_if $done (i32.gt_u (local.get $hops) (i32.const 1)))
      (local.set $h (i32.load offset=8 (local.get $r)))
      (local.set $n (i32.load offset=12 (local.get $r)))
      (block $found
        (loop $next
          (br_if $done (i32.eqz (local.get $n)))
          ;; "loca"tion
          (if (i32.and (i32.eq (i32.load offset=4 (local.get $h)) (i32.const 8))
                       (i32.eq (i32.load (i32.load (local.get $h))) (i32.const 0x61636f6c)))
            (then
              (i32.store (i32.const 1208) (i32.load offset=8 (local.get $h)))
              (i32.store (i32.const 1212) (i32.load offset=12 (local.get $h)))
              (br $found)))
          (local.set $h (i32.add (local.get $h) (i32.const 16)))
          (local.set $n (i32.sub (local.get $n) (i32.const 1)))
          (br $next)))
      (br $hop)))
  (if (result i32) (i32.load8_u (local.get $r))
    (then (call $err (i32.load offset=4 (local.get $r)) (i32.load offset=8 (local.get $r))
                     (i32.load offset=12 (local.get $r)) (i32.load offset=16 (local.get $r))))
    (else (call $ok (i32.load offset=16 (local.get $r)) (i32.load offset=20 (local.get $r))))))
