-- platform-sync formula 4250
-- name: YoY Growth ·
CASE WHEN `Visits` >= 1000 THEN 'Large' WHEN `Budget` >= 100 THEN 'Medium' ELSE 'Small' END
