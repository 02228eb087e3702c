-- platform-sync formula 2653
-- name: Budget bucket (copy)
CASE WHEN `Country` IN ('A', 'B', 'C''s') AND `Weight kg` > -5 THEN 1 ELSE 0 END
