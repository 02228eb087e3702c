-- platform-sync formula 5261
-- name: Distinct Conversion Rate
SERVICE_BEAST_MODE(2988) / NULLIF(SUM(`Budget`), 0)
