-- platform-sync formula 9007199254742899
-- name: Cohort
IFNULL(`Region`, 'Unbekannt')
