-- platform-sync formula 8037
-- name: Avg Updated At test
DATE_ADD(`Ship Date`, INTERVAL 3 MONTH)
