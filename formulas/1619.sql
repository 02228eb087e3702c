-- platform-sync formula 1619
-- name: Last Login by Rep - DO NOT USE
SERVICE_BEAST_MODE(1042) / NULLIF(SUM(`Latitude`), 0)
