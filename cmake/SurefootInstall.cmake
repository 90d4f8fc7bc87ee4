# An installed Surefoot is found with find_package(surefoot) and linked as surefoot::surefoot.
include(CMakePackageConfigHelpers)
install(TARGETS surefoot surefoot_testing EXPORT surefootTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The program finds the library, where that is shared, beside itself wherever both were moved.
if(SUREFOOT_KERNEL_LEVELS)
  set_target_properties(surefoot_program PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
install(TARGETS surefoot_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Completions of shells and manual pages, from what --help says.
install(CODE "
  set(made \"${PROJECT_BINARY_DIR}/generated/share\")
  file(REMOVE_RECURSE \"\${made}\")
  foreach(shell_and_file bash:bash-completion/completions/surefoot zsh:zsh/vendor-completions/_surefoot
                         fish:fish/vendor_completions.d/surefoot.fish)
    string(REGEX MATCH \"^[a-z]+\" shell \"\${shell_and_file}\")
    string(REGEX REPLACE \"^[a-z]+:\" \"\" file \"\${shell_and_file}\")
    get_filename_component(folder \"\${made}/\${file}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"$<TARGET_FILE:surefoot_program>\" completion \${shell} OUTPUT_FILE \"\${made}/\${file}\"
                    COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(COMMAND \"$<TARGET_FILE:surefoot_program>\" manual --out \"\${made}/man/man1\" COMMAND_ERROR_IS_FATAL ANY)
  file(INSTALL \"\${made}/\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")
")
install(DIRECTORY src/surefoot DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp"
        # These need fast_float and nlohmann/json, which users of the library need not have.
        PATTERN "number.hpp" EXCLUDE PATTERN "json_fields.hpp" EXCLUDE PATTERN "json_parse.hpp" EXCLUDE PATTERN "free_choice.hpp" EXCLUDE PATTERN "kind_of.hpp" EXCLUDE
        PATTERN "experiments" EXCLUDE)
install(FILES include/surefoot/monitor.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/surefoot)
install(FILES ${PROJECT_BINARY_DIR}/generated/surefoot/core/version.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/surefoot/core)
install(DIRECTORY schema DESTINATION ${CMAKE_INSTALL_DATADIR}/surefoot)
# The page that certifies a table in a browser (src/surefoot/report).
install(FILES ${PROJECT_BINARY_DIR}/certify.html DESTINATION ${CMAKE_INSTALL_DATADIR}/surefoot OPTIONAL)
install(EXPORT surefootTargets NAMESPACE surefoot:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/surefoot)
configure_package_config_file(cmake/surefootConfig.cmake.in ${PROJECT_BINARY_DIR}/surefootConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/surefoot)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/surefootConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/surefootConfig.cmake ${PROJECT_BINARY_DIR}/surefootConfigVersion.cmake
              cmake/FindRandom123.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/surefoot)

# Licences of what is inside, collected from the packages that Debian installs. A package must have them (scripts/deb, scripts/wheel).
install(CODE "
  set(made \"${PROJECT_BINARY_DIR}/generated/licences\")
  file(REMOVE_RECURSE \"\${made}\")
  execute_process(COMMAND \"${PROJECT_SOURCE_DIR}/scripts/licences\" \"\${made}\" RESULT_VARIABLE failed ERROR_VARIABLE why)
  if(failed AND (CPACK_INSTALL_CMAKE_PROJECTS OR \"${SUREFOOT_KERNEL_LEVELS}\"))
    message(FATAL_ERROR \"the licences of what is inside cannot be collected: \${why}\")
  elseif(failed)
    message(NOTICE \"Without the licences of what is inside, which packages must have: \${why}\")
  else()
    file(INSTALL \"\${made}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/doc/surefoot\")
  endif()
")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/surefoot RENAME copyright)
if(PROJECT_IS_TOP_LEVEL)
  include(SurefootPackage)
endif()
