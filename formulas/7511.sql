-- platform-sync formula 7511
-- name: Max SKU
SERVICE_BEAST_MODE(3932) / NULLIF(SUM(`Cost`), 0)
