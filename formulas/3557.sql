-- platform-sync formula 3557
-- name: Is Late
CASE WHEN DAYOFWEEK(CURDATE()) IN (1, 7) THEN 'weekend' ELSE 'weekday' END
