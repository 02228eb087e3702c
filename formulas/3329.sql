-- platform-sync formula 3329
-- name: Weighted Pipeline
CASE WHEN `Cost` >= 1000 THEN 'Large' WHEN `Impressions` >= 100 THEN 'Medium' ELSE 'Small' END
