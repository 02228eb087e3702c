-- platform-sync formula 3834
-- name: ARPU ·
CASE WHEN DAYOFWEEK(CURDATE()) IN (1, 7) THEN 'weekend' ELSE 'weekday' END
