-- platform-sync formula 5049
-- name: Net Price YTD test
SERVICE_BEAST_MODE(1619) / NULLIF(SUM(`Headcount`), 0)
