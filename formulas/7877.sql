-- platform-sync formula 7877
-- name: Churn
CASE `地域` WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END
