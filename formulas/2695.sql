-- platform-sync formula 2695
-- name: Churn OLD
SUM(SUM(`Amount`)) OVER (PARTITION BY `Region` ORDER BY `Region`)
