"""The beginnings that addresses of the API share."""

DOCUMENT = "documents/<int:doc_id>/"
POINT = DOCUMENT + "crawl-points/<int:point_id>/"
EXCLUDE = DOCUMENT + "exclude-urls/<int:exclude_id>/"
IMPORT = DOCUMENT + "imports/<int:import_id>/"
PREVIEW = DOCUMENT + "previews/<int:preview_id>/"
NOTE = DOCUMENT + "notes/<int:note_id>/"
RUN = "runs/<int:run_id>/"
OF_RUN = RUN + "documents/<int:doc_id>/"  # one document of a run
URL = RUN + "urls/<int:entry_id>/"  # one address of a run
OTHER = RUN + "compare/<int:other_id>/"
FINDING = "findings/<int:finding_id>/"
SCHEDULE = "schedules/<int:schedule_id>/"
