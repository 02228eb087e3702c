-- platform-sync formula 5157
-- name: Is Late
DATE_ADD(`Ship Date`, INTERVAL 3 MONTH)
