# What is installed, and the Debian packages of it: resequencer, resequencer-demo with what no operator runs, and one
# for each sink that needs the library of a server. script/package makes them; docs/deployment.md says what they do.
install(TARGETS resequencer reseq-produce reseq-stage reseq-sink-sqlite reseq-sink-files reseq-sink-ndjson
  COMPONENT main DESTINATION bin)
install(TARGETS reseq-demo-pipeline COMPONENT demo DESTINATION bin)
install(TARGETS reseq-sink-postgres COMPONENT postgres DESTINATION bin)
install(TARGETS reseq-sink-opensearch COMPONENT opensearch DESTINATION bin)
install(FILES deploy/systemd/resequencer@.service COMPONENT main DESTINATION lib/systemd/system)
install(FILES deploy/systemd/reseq-sink-postgres@.service COMPONENT postgres DESTINATION lib/systemd/system)
install(FILES deploy/systemd/reseq-sink-opensearch@.service COMPONENT opensearch DESTINATION lib/systemd/system)
install(FILES deploy/debian/example.toml COMPONENT main DESTINATION /etc/resequencer)
# The documents keep their places to each other, so that their links lead somewhere.
file(GLOB manuals CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
install(FILES README.md CHANGELOG.md SECURITY.md COMPONENT main DESTINATION share/doc/resequencer)
install(FILES ${manuals} COMPONENT main DESTINATION share/doc/resequencer/docs)
install(DIRECTORY docs/examples docs/decisions COMPONENT main DESTINATION share/doc/resequencer/docs)
install(DIRECTORY schemas COMPONENT main DESTINATION share/doc/resequencer)
install(FILES deploy/debian/copyright COMPONENT main DESTINATION share/doc/resequencer)
install(FILES deploy/debian/copyright COMPONENT demo DESTINATION share/doc/resequencer-demo)
install(FILES deploy/debian/copyright COMPONENT postgres DESTINATION share/doc/resequencer-sink-postgres)
install(FILES deploy/debian/copyright COMPONENT opensearch DESTINATION share/doc/resequencer-sink-opensearch)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The resequencer's maintainers <maintainers@resequencer.invalid>")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL main demo postgres opensearch)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# Libraries and their least versions, read from the programs.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Permissions of the maintainer scripts as Debian wants them, whatever those of the checkout are.
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_MAIN_PACKAGE_NAME resequencer)
set(CPACK_DEBIAN_MAIN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_MAIN_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_MAIN_PACKAGE_RECOMMENDS ca-certificates)  # brokers with TLS
set(CPACK_DEBIAN_MAIN_PACKAGE_SUGGESTS git)                # reseq-produce git
set(CPACK_DEBIAN_MAIN_DESCRIPTION "order per document for parallel Kafka pipelines
Keeps every document in order while many workers process documents in
parallel. It stands between the topics of a pipeline, lets a result pass only
if it belongs to the newest request of its document, and gives it a version
that only rises. With a producer that tags requests, a program that makes a
stage of any command, and sinks: SQLite, files, lines of JSON.")
set(CPACK_DEBIAN_MAIN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/deploy/debian/conffiles
  ${PROJECT_SOURCE_DIR}/deploy/debian/postinst ${PROJECT_SOURCE_DIR}/deploy/debian/prerm
  ${PROJECT_SOURCE_DIR}/deploy/debian/postrm)

set(CPACK_DEBIAN_DEMO_PACKAGE_NAME resequencer-demo)
set(CPACK_DEBIAN_DEMO_PACKAGE_SECTION net)
set(CPACK_DEBIAN_DEMO_DESCRIPTION "pipeline that breaks order, to try the resequencer with
Workers that delay, repeat and reorder results on purpose.")

set(sink_scripts ${PROJECT_SOURCE_DIR}/deploy/debian/sink/postinst ${PROJECT_SOURCE_DIR}/deploy/debian/sink/prerm
  ${PROJECT_SOURCE_DIR}/deploy/debian/sink/postrm)
set(CPACK_DEBIAN_POSTGRES_PACKAGE_CONTROL_EXTRA ${sink_scripts})
set(CPACK_DEBIAN_OPENSEARCH_PACKAGE_CONTROL_EXTRA ${sink_scripts})

set(CPACK_DEBIAN_POSTGRES_PACKAGE_NAME resequencer-sink-postgres)
set(CPACK_DEBIAN_POSTGRES_PACKAGE_SECTION net)
set(CPACK_DEBIAN_POSTGRES_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_POSTGRES_DESCRIPTION "resequencer's outputs in a table of PostgreSQL
Writes what the resequencer releases into a table, each record exactly once,
from any number of instances. Deletes keep their versions behind a view.")

set(CPACK_DEBIAN_OPENSEARCH_PACKAGE_NAME resequencer-sink-opensearch)
set(CPACK_DEBIAN_OPENSEARCH_PACKAGE_SECTION net)
set(CPACK_DEBIAN_OPENSEARCH_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_OPENSEARCH_DESCRIPTION "resequencer's outputs in an index of OpenSearch
Writes what the resequencer releases into an index, from any number of
instances. Only newer versions are written, and what was deleted stays
deleted, behind an alias.")
include(CPack)
