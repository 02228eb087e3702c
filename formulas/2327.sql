-- platform-sync formula 2327
-- name: Churn
AVG(SUM(`Cost`) FIXED (ADD `地域`, `Hire Date`))
