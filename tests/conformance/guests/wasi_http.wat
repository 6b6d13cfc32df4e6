;; Does with `wasi:http` what `http_probe` does with `http`: method = op, URL = body, one header = cursor and idempotency key where
;; given. Answers the response body, or fails: "error-code" and its number, "header-error" and its number, "request-error",
;; "redirect" and its target. A method that begins with P has the URL for its body, PUT 12 MiB; one that begins with F asks 40
;; times before it waits for the last answer.
(import "wasi:http/types@0.2.0" "[constructor]fields" (func $fields (result i32)))
(import "wasi:http/types@0.2.0" "[method]fields.get" (func $field (param i32 i32 i32 i32)))
(import "wasi:http/types@0.2.0" "[method]fields.append" (func $append (param i32 i32 i32 i32 i32 i32)))
(import "wasi:http/types@0.2.0" "[constructor]outgoing-request" (func $request (param i32) (result i32)))
(import "wasi:http/types@0.2.0" "[method]outgoing-request.body" (func $body (param i32 i32)))
(import "wasi:http/types@0.2.0" "[method]outgoing-request.set-method" (func $set_method (param i32 i32 i32 i32) (result i32)))
(import "wasi:http/types@0.2.0" "[method]outgoing-request.set-scheme" (func $set_scheme (param i32 i32 i32 i32 i32) (result i32)))
(import "wasi:http/types@0.2.0" "[method]outgoing-request.set-authority" (func $set_authority (param i32 i32 i32 i32) (result i32)))
(import "wasi:http/types@0.2.0" "[method]outgoing-request.set-path-with-query" (func $set_path (param i32 i32 i32 i32) (result i32)))
(import "wasi:http/types@0.2.0" "[method]outgoing-body.write" (func $open (param i32 i32)))
(import "wasi:http/types@0.2.0" "[static]outgoing-body.finish" (func $finish (param i32 i32 i32 i32)))
(import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush" (func $write (param i32 i32 i32 i32)))
(import "wasi:io/streams@0.2.0" "[resource-drop]output-stream" (func $close (param i32)))
(import "wasi:http/outgoing-handler@0.2.0" "handle" (func $handle (param i32 i32 i32 i32)))
(import "wasi:http/types@0.2.0" "[method]future-incoming-response.subscribe" (func $subscribe (param i32) (result i32)))
(import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
(import "wasi:http/types@0.2.0" "[method]future-incoming-response.get" (func $get (param i32 i32)))
(import "wasi:http/types@0.2.0" "[method]incoming-response.status" (func $status (param i32) (result i32)))
(import "wasi:http/types@0.2.0" "[method]incoming-response.headers" (func $headers (param i32) (result i32)))
(import "wasi:http/types@0.2.0" "[method]incoming-response.consume" (func $consume (param i32 i32)))
(import "wasi:http/types@0.2.0" "[method]incoming-body.stream" (func $stream (param i32 i32)))
(import "wasi:io/streams@0.2.0" "[method]input-stream.blocking-read" (func $read (param i32 i64 i32)))
;;prelude
(data (i32.const 2048) "error-code")
(data (i32.const 2064) "header-error")
(data (i32.const 2080) "request-error")
(data (i32.const 2096) "redirect")
(data (i32.const 2112) "location")
(data (i32.const 2128) "read-error")
;; What a call returns through memory is at 1536, this failure's two digits are at 1500.
(func $failed (param $code i32) (param $len i32) (param $number i32) (result i32)
  (i32.store8 (i32.const 1500) (i32.add (i32.const 48) (i32.div_u (local.get $number) (i32.const 10))))
  (i32.store8 (i32.const 1501) (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10))))
  (call $err (local.get $code) (local.get $len) (i32.const 1500) (i32.const 2)))
;; Tells the request where it goes; 1 where a part was refused.
(func $aim (param $req i32) (param $url i32) (param $len i32) (result i32)
  (local $https i32) (local $at i32) (local $slash i32) (local $end i32) (local $byte i32)
  (local.set $https (i32.eq (i32.load8_u offset=4 (local.get $url)) (i32.const 115)))
  (local.set $at (i32.add (i32.add (local.get $url) (i32.const 7)) (local.get $https)))
  (local.set $slash (local.get $at))
  (local.set $end (i32.add (local.get $url) (local.get $len)))
  (block $found
    (loop $next
      (br_if $found (i32.ge_u (local.get $slash) (local.get $end)))
      (br_if $found (i32.eq (i32.load8_u (local.get $slash)) (i32.const 47)))
      (local.set $slash (i32.add (local.get $slash) (i32.const 1)))
      (br $next)))
  (i32.or
    (call $set_scheme (local.get $req) (i32.const 1) (local.get $https) (i32.const 0) (i32.const 0))
    (i32.or
      (call $set_authority (local.get $req) (i32.const 1) (local.get $at) (i32.sub (local.get $slash) (local.get $at)))
      (call $set_path (local.get $req) (i32.const 1) (local.get $slash) (i32.sub (local.get $end) (local.get $slash))))))
;; Sends the body: these bytes so many times. Whether the host took it shows in the answer.
(func $send_body (param $body i32) (param $from i32) (param $len i32) (param $times i32)
  (local $out i32)
  (call $open (local.get $body) (i32.const 1536))
  (local.set $out (i32.load (i32.const 1540)))
  (block $refused
    (loop $more
      (call $write (local.get $out) (local.get $from) (local.get $len) (i32.const 1536))
      (br_if $refused (i32.load8_u (i32.const 1536)))
      (local.set $times (i32.sub (local.get $times) (i32.const 1)))
      (br_if $more (local.get $times))))
  (call $close (local.get $out))
  (call $finish (local.get $body) (i32.const 0) (i32.const 0) (i32.const 1536)))
;; The response's body, or its redirect.
(func $answer (param $res i32) (result i32)
  (local $in i32) (local $to i32) (local $total i32) (local $len i32)
  (if (i32.eq (i32.div_u (call $status (local.get $res)) (i32.const 100)) (i32.const 3)) (then
    (call $field (call $headers (local.get $res)) (i32.const 2112) (i32.const 8) (i32.const 1536))
    (local.set $to (i32.load (i32.const 1536)))
    (return (call $err (i32.const 2096) (i32.const 8) (i32.load (local.get $to)) (i32.load offset=4 (local.get $to))))))
  (call $consume (local.get $res) (i32.const 1536))
  (call $stream (i32.load (i32.const 1540)) (i32.const 1536))
  (local.set $in (i32.load (i32.const 1540)))
  (local.set $to (call $alloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 262144)))
  (loop $more
    (call $read (local.get $in) (i64.const 65536) (i32.const 1536))
    (if (i32.eqz (i32.load8_u (i32.const 1536))) (then
      (local.set $len (i32.load (i32.const 1544)))
      (memory.copy (i32.add (local.get $to) (local.get $total)) (i32.load (i32.const 1540)) (local.get $len))
      (local.set $total (i32.add (local.get $total) (local.get $len)))
      (br $more))))
  (if (i32.eqz (i32.load8_u (i32.const 1540))) (then
    (return (call $failed (i32.const 2128) (i32.const 10) (i32.const 0)))))
  (call $ok (local.get $to) (local.get $total)))
(func $fetch (type $call)
  (param $op i32) (param $op_len i32) (param $url i32) (param $url_len i32)
  (param $has_name i32) (param $name i32) (param $name_len i32)
  (param $has_value i32) (param $value i32) (param $value_len i32)
  (param $deadline i32) (param $extra i32) (param $extra_len i32) (result i32)
  (local $fields i32) (local $req i32) (local $body i32) (local $future i32) (local $times i32)
  (local.set $times (select (i32.const 40) (i32.const 1) (i32.eq (i32.load8_u (local.get $op)) (i32.const 70))))
  (loop $again
    (local.set $fields (call $fields))
    (if (i32.and (local.get $has_name) (local.get $has_value)) (then
      (call $append (local.get $fields) (local.get $name) (local.get $name_len)
                    (local.get $value) (local.get $value_len) (i32.const 1536))
      (if (i32.load8_u (i32.const 1536)) (then
        (return (call $failed (i32.const 2064) (i32.const 12) (i32.load8_u (i32.const 1537))))))))
    (local.set $req (call $request (local.get $fields)))
    (if (i32.or (call $set_method (local.get $req) (i32.const 9) (local.get $op) (local.get $op_len))
                (call $aim (local.get $req) (local.get $url) (local.get $url_len))) (then
      (return (call $failed (i32.const 2080) (i32.const 13) (i32.const 0)))))
    (if (i32.eq (i32.load8_u (local.get $op)) (i32.const 80)) (then
      (call $body (local.get $req) (i32.const 1536))
      (local.set $body (i32.load (i32.const 1540)))))
    (call $handle (local.get $req) (i32.const 0) (i32.const 0) (i32.const 1536))
    (if (i32.load8_u (i32.const 1536)) (then
      (return (call $failed (i32.const 2048) (i32.const 10) (i32.load8_u (i32.const 1544))))))
    (local.set $future (i32.load (i32.const 1544)))
    (local.set $times (i32.sub (local.get $times) (i32.const 1)))
    (br_if $again (local.get $times)))
  (if (local.get $body) (then
    (if (i32.eq (i32.load8_u offset=1 (local.get $op)) (i32.const 85))
      (then (call $send_body (local.get $body) (i32.const 0) (i32.const 4096) (i32.const 3072)))
      (else (call $send_body (local.get $body) (local.get $url) (local.get $url_len) (i32.const 1))))))
  (call $block (call $subscribe (local.get $future)))
  (call $get (local.get $future) (i32.const 1536))
  (if (i32.load8_u (i32.const 1552)) (then
    (return (call $failed (i32.const 2048) (i32.const 10) (i32.load8_u (i32.const 1560))))))
  (call $answer (i32.load (i32.const 1560))))
