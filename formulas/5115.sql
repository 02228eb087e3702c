-- platform-sync formula 5115
-- name: Churn
DATE_ADD(`Order Date`, INTERVAL 3 MONTH)
