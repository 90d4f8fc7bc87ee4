# An installed Surefoot is found with find_package(surefoot) and linked as surefoot::surefoot.
include(CMakePackageConfigHelpers)
install(TARGETS surefoot surefoot_testing EXPORT surefootTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS surefoot_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY src/surefoot DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp"
        # These need fast_float and nlohmann/json, which users of the library need not have.
        PATTERN "number.hpp" EXCLUDE PATTERN "json_fields.hpp" EXCLUDE PATTERN "json_parse.hpp" EXCLUDE PATTERN "free_choice.hpp" EXCLUDE PATTERN "kind_of.hpp" EXCLUDE
        PATTERN "experiments" EXCLUDE)
install(FILES include/surefoot/monitor.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/surefoot)
install(FILES ${PROJECT_BINARY_DIR}/generated/surefoot/core/version.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/surefoot/core)
install(DIRECTORY schema DESTINATION ${CMAKE_INSTALL_DATADIR}/surefoot)
install(EXPORT surefootTargets NAMESPACE surefoot:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/surefoot)
configure_package_config_file(cmake/surefootConfig.cmake.in ${PROJECT_BINARY_DIR}/surefootConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/surefoot)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/surefootConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/surefootConfig.cmake ${PROJECT_BINARY_DIR}/surefootConfigVersion.cmake
              cmake/FindRandom123.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/surefoot)
