-- platform-sync formula 7772
-- name: Margin %
DATE_ADD(`Due Date`, INTERVAL 3 MONTH)
