-- platform-sync formula 4191
-- name: Max Fälligkeit
-- agreed with finance
ROUND(AVG(`Umsatz (€)`), 2) /* two places */
