-- platform-sync formula 6366
-- name: Total Due Date
CASE WHEN `売上` >= 1000 THEN 'Large' WHEN `Net Price` >= 100 THEN 'Medium' ELSE 'Small' END
