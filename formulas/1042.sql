-- platform-sync formula 1042
-- name: SKU YTD
IFNULL(`E-mail`, 'Unbekannt')
