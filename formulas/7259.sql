-- platform-sync formula 7259
-- name: Days Open
CASE WHEN `Latitude` >= 1000 THEN 'Large' WHEN `Cost` >= 100 THEN 'Medium' ELSE 'Small' END
