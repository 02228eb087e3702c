-- platform-sync formula 2354
-- name: Avg Score test
DATE_ADD(`Updated At`, INTERVAL 3 MONTH)
