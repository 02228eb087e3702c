-- Datasets with the number of cards and calculations that use them directly, and how many of these do so by a broken link.
-- From the latest runs.
SELECT dataset_id, cards, calculations, broken_links
FROM datasets
ORDER BY cards DESC, dataset_id
