-- platform-sync formula 8204
-- name: Churn OLD
DATE_ADD(`Updated At`, INTERVAL 3 MONTH)
