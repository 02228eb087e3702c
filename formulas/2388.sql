-- platform-sync formula 2388
-- name: 合計 Clicks test
COUNT(DISTINCT `地域`)
