-- platform-sync formula 3269
-- name: YoY Growth
SUM(`Budget`
