-- platform-sync formula 7927
-- name: margin % OLD
SERVICE_BEAST_MODE(3394) / NULLIF(SUM(`Clicks`), 0)
