-- platform-sync formula 3021
-- name: Umsatz (€) bucket
CASE WHEN `Conversion Rate` >= 1000 THEN 'Large' WHEN `Revenue` >= 100 THEN 'Medium' ELSE 'Small' END
