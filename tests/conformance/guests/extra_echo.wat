;; Answers `{}` with the pairs of the request's `extra` as its own.
;;prelude
(func $fetch (type $call)
  (param $op i32) (param $op_len i32) (param $body i32) (param $body_len i32)
  (param $has_cursor i32) (param $cursor i32) (param $cursor_len i32)
  (param $has_key i32) (param $key i32) (param $key_len i32)
  (param $deadline i32) (param $extra i32) (param $extra_len i32) (result i32)
  (local $r i32)
  (local.set $r (call $ok (i32.const 1024) (i32.const 2)))
  (i32.store offset=28 (local.get $r) (local.get $extra))
  (i32.store offset=32 (local.get $r) (local.get $extra_len))
  (local.get $r))
