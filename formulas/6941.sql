-- platform-sync formula 6941
-- name: 🔥 Hot leads test
CASE WHEN `Latitude` >= 1000 THEN 'Large' WHEN `Umsatz (€)` >= 100 THEN 'Medium' ELSE 'Small' END
