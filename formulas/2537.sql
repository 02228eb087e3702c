-- platform-sync formula 2537
-- name: Churn OLD
DATE_FORMAT(`Due Date`, '%Y-%m')
