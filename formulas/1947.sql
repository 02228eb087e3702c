-- platform-sync formula 1947
-- name: YoY Growth
SERVICE_BEAST_MODE(1374) / NULLIF(SUM(`Budget`), 0)
