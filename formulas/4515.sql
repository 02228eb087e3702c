-- platform-sync formula 4515
-- name: On-time %
SERVICE_BEAST_MODE(2563) / NULLIF(SUM(`Revenue`), 0)
